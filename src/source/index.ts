export { withFixes } from './fixes.ts';
export { openSource } from './open.ts';
