/** One contains the other, or they differ by one letter too many, one missing, one wrong or two swapped. */
export function isClose(name: string, text: string): boolean {
  if (text.length > 2 && (name.includes(text) || text.includes(name))) return true;
  let start = 0;
  while (start < name.length && name[start] === text[start]) start += 1;
  const [a, b] = [name.slice(start), text.slice(start)];
  const isSwapped = a.length > 1 && a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
  return isSwapped || a.slice(1) === b || a === b.slice(1) || a.slice(1) === b.slice(1);
}
