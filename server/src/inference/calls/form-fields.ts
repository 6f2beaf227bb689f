import * as z from 'zod';

/** A form's fields are texts: those that are meant as numbers or as yes and no are read as such before the schema looks at them. */
export function formOf<Schema extends z.ZodType>(
  schema: Schema,
  { numbers, booleans }: { numbers: readonly string[]; booleans: readonly string[] },
) {
  const read = (name: string, value: unknown): unknown => {
    if (typeof value !== 'string') return value;
    if (numbers.includes(name) && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
    if (booleans.includes(name) && (value === 'true' || value === 'false')) return value === 'true';
    return value;
  };
  return z.preprocess(
    (fields) =>
      typeof fields === 'object' && fields !== null
        ? Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, read(name, value)]))
        : fields,
    schema,
  );
}
