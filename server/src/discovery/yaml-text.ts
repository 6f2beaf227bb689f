/**
 * JSON as block-style YAML 1.2. Every scalar stays as JSON writes it, which YAML 1.2 reads alike (its section 1.3), so there is no string
 * that could be taken for a number, a date or a `no`.
 */
export const yamlText = (value: unknown): string => `${block(value, '')}\n`;

const PLAIN_KEY = /^[A-Za-z_$][\w$-]*$/;
/** YAML 1.1 readers take these for booleans and nulls. */
const TAKEN = /^(?:true|false|yes|no|on|off|y|n|null)$/i;

function block(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return value.length === 0 ? '[]' : value.map((item) => `- ${block(item, `${indent}  `)}`).join(`\n${indent}`);
  const entries = Object.entries(value);
  if (entries.length === 0) return '{}';
  return entries.map(([key, member]) => `${keyText(key)}:${memberText(member, indent)}`).join(`\n${indent}`);
}

const keyText = (key: string): string => (PLAIN_KEY.test(key) && !TAKEN.test(key) ? key : JSON.stringify(key));

function memberText(member: unknown, indent: string): string {
  const deeper = `${indent}  `;
  const isBlock = typeof member === 'object' && member !== null && Object.keys(member).length > 0;
  return isBlock ? `\n${deeper}${block(member, deeper)}` : ` ${block(member, deeper)}`;
}
