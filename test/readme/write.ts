/** `npm run readme`: regenerates the generated sections of the documentation. */
import { writePages } from './sections.ts';

writePages();
