/** Lists for sentences: the first few by name, the rest by number. One user can have ten thousand orders. */
export function inShort(items: Iterable<string>, shown: number, separator = ', '): string {
  const all = [...items];
  const text = all.slice(0, shown).join(separator);
  return all.length > shown ? `${text} and ${String(all.length - shown)} more` : text;
}
