/** The address that is marked as the primary one, else the first: `{ from: emails, apply: [{ call: primaryAddress }] }` */
export function primaryAddress(addresses) {
  const list = [addresses].flat().filter((address) => address?.value);
  return (list.find(({ primary }) => primary) ?? list[0])?.value;
}

/** The sum of quantity times price, in whole cents so that no digit is lost: `amount: { from: items, apply: [{ call: sumOfItems }] }` */
export function sumOfItems(items) {
  const cents = [items].flat().map(({ quantity = 1, price }) => Math.round(quantity * price * 100));
  const sum = cents.reduce((total, each) => total + each, 0);
  if (Number.isNaN(sum)) throw new Error('an item has no price');
  return sum / 100;
}

/** Several columns as one text, each that is filled on a line: `content: { from: Type, apply: [{ call: callSummary }] }` */
export function callSummary(type, record) {
  const lines = ['Outcome', 'Duration', 'Notes'].filter((column) => record[column].trim() !== '');
  return [type, ...lines.map((column) => `${column}: ${record[column].trim()}`)].join('\n');
}
