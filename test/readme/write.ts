/** `npm run readme`: writes the generated sections of the documentation anew. */
import { writePages } from './sections.ts';

writePages();
