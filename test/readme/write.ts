/** `npm run readme`: updates the generated sections of the README. */
import { writeReadme } from './sections.ts';

writeReadme();
