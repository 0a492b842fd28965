/** `npm run readme`: writes the generated sections of the README anew. */
import { writeReadme } from './sections.ts';

writeReadme();
