/** The column of each row, so that the sum is the greatest and no column is used twice; of equal sums, the one that suits the first rows. */
export function bestSum(matrix: readonly (readonly number[])[]): (number | undefined)[] {
  const most = matrix.map((_, row) => matrix.slice(row).reduce((sum, scores) => sum + Math.max(0, ...scores), 0));
  let best: { readonly sum: number; readonly taken: readonly (number | undefined)[] } = { sum: 0, taken: [] };
  const search = (sum: number, taken: readonly (number | undefined)[]): void => {
    if (sum > best.sum) best = { sum, taken };
    const scores = matrix[taken.length];
    if (!scores || sum + most[taken.length]! <= best.sum) return;
    const able = [...scores.entries()].filter(([at, score]) => score > 0 && !taken.includes(at));
    for (const [at, score] of able.sort(([, a], [, b]) => b - a)) search(sum + score, [...taken, at]);
    search(sum, [...taken, undefined]);
  };
  search(0, []);
  return matrix.map((_, row) => best.taken[row]);
}
