/** `"{First Name} {Last Name}"`: paths in braces, `{{` and `}}` for braces themselves. */
export type TemplatePart = { readonly literal: string } | { readonly path: string };

const PIECE = /\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/g;

/** The parts in order. An unmatched brace is literal; `templateError` reports it. */
export function parseTemplate(template: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let literal = '';
  for (const [piece, path] of template.matchAll(PIECE)) {
    if (path === undefined) {
      literal += piece === '{{' ? '{' : piece === '}}' ? '}' : piece;
      continue;
    }
    if (literal !== '') parts.push({ literal });
    literal = '';
    parts.push({ path: path.trim() });
  }
  if (literal !== '') parts.push({ literal });
  return parts;
}

/** The error in a template, with a hint after a line break, or undefined. */
export function templateError(template: string): string | undefined {
  let paths = 0;
  for (const [piece, path] of template.matchAll(PIECE)) {
    if (piece === '{' || piece === '}')
      return `unmatched \`${piece}\` in the template\nuse \`${piece}${piece}\` for a literal brace`;
    if (path === undefined) continue;
    if (path.trim() === '') return 'empty `{}` in the template\nadd a column or path between the braces';
    paths += 1;
  }
  return paths > 0
    ? undefined
    : 'the template contains no column\nadd one in braces (`"{First Name}"`), or use `value` for a constant';
}
