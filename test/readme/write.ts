/** `npm run readme`: writes the generated sections and the screens of the documentation anew. */
import { writePages } from './sections.ts';

await writePages();
