/** Of a line in the column of the samples, in characters. */
const WIDTH = 50;

/** JSON as one writes it by hand: what is short is on one line. @param before what is on the line already, beyond the indent */
export function legibleJson(value: unknown, indent = '', before = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  // A line's end is always between values: in them it is escaped.
  const flat = JSON.stringify(value, null, 1)
    .replaceAll(/\[\n\s*\{/g, '[{')
    .replaceAll(/\}\n\s*\]/g, '}]')
    .replaceAll(/\n\s*/g, ' ');
  if (indent !== '' && indent.length + before + flat.length <= WIDTH) return flat;
  // A list of one record opens and closes with it.
  if (Array.isArray(value) && value.length === 1 && typeof value[0] === 'object') return `[${legibleJson(value[0], indent, before)}]`;
  const inner = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((item) => legibleJson(item, inner))
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${legibleJson(member, inner, name.length + 4)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return members.length === 0 ? `${open}${close}` : `${open}\n${members.map((member) => inner + member).join(',\n')}\n${indent}${close}`;
}
