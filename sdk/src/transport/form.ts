/** Fields and files as a form, in OpenAI's encoding: `image[]` for several, `metadata[team]` for what has members. */
export function formOf(fields: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) append(form, name, value);
  return form;
}

function append(form: FormData, name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (value instanceof Blob) form.append(name, value, 'name' in value ? String(value.name) : 'unknown_file');
  else if (Array.isArray(value)) for (const one of value) append(form, `${name}[]`, one);
  else if (typeof value === 'object') for (const [key, one] of Object.entries(value)) append(form, `${name}[${key}]`, one);
  else form.append(name, String(value));
}
