/** `"{First Name} {Last Name}"`: paths in braces, `{{` and `}}` for braces themselves. */
export type TemplatePart = { readonly literal: string } | { readonly path: string };

const PIECE = /\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/g;

/** The pieces in order; a stray brace is literal (`templateError` has refused it before). */
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

/** What is wrong with a template, with advice after a line break, or undefined. */
export function templateError(template: string): string | undefined {
  let paths = 0;
  for (const [piece, path] of template.matchAll(PIECE)) {
    if (piece === '{' || piece === '}')
      return `a stray \`${piece}\` in the template\nwrite \`${piece}${piece}\` for the brace itself`;
    if (path === undefined) continue;
    if (path.trim() === '') return 'an empty `{}` in the template\nname a column or path between the braces';
    paths += 1;
  }
  return paths > 0
    ? undefined
    : 'a template without a column\nname one in braces (`"{First Name}"`), or write `value:` for a constant';
}
