import { quoted } from './providers.ts';

export interface ImportedKeys {
  /** A command for each key, which prints the new secret once. */
  readonly commands: readonly string[];
  readonly leftOut: readonly string[];
}

/** What LiteLLM calls a month. */
const MONTHS = ['30d', '1mo', '31d'];

/** @param csv of `"LiteLLM_VerificationToken"`, with a line of column names, as `psql --csv` writes it */
export function importKeys(csv: string, nowMs: number): ImportedKeys {
  const [columns = [], ...rows] = recordsOf(csv);
  const commands: string[] = [];
  const leftOut: string[] = [];
  for (const [index, cells] of rows.entries()) {
    const row = Object.fromEntries(columns.map((column, at) => [column, cells[at] ?? '']));
    const name = row['key_alias'] || row['key_name'] || `litellm-${index + 1}`;
    const expires = row['expires'] ? Date.parse(row['expires']) : undefined;
    if (isTrue(row['blocked'])) leftOut.push(`key ${name}: blocked`);
    else if (expires !== undefined && expires <= nowMs) leftOut.push(`key ${name}: expired`);
    else {
      const cap = capOf(row);
      if (cap === undefined && row['max_budget'])
        leftOut.push(`key ${name}: a budget of ${row['max_budget']} per ${row['budget_duration'] || 'lifetime'}`);
      commands.push(commandOf({ name, cap, expires, models: arrayOf(row['models']), rpm: row['rpm_limit'], tpm: row['tpm_limit'] }));
    }
  }
  return { commands, leftOut };
}

const isTrue = (text: string | undefined): boolean => text === 't' || text === 'true';

/** A cap is of a calendar month here. */
const capOf = (row: Readonly<Record<string, string>>): string | undefined =>
  row['max_budget'] && MONTHS.includes(row['budget_duration'] ?? '') ? row['max_budget'] : undefined;

interface WantedKey {
  readonly name: string;
  readonly cap: string | undefined;
  /** Epoch milliseconds. */
  readonly expires: number | undefined;
  readonly models: readonly string[];
  readonly rpm: string | undefined;
  readonly tpm: string | undefined;
}

const commandOf = ({ name, cap, expires, models, rpm, tpm }: WantedKey): string =>
  [
    `npx tallygate keys create --name ${quoted(name)}`,
    ...(cap ? [`--cap ${cap}`] : []),
    ...(expires === undefined ? [] : [`--expires ${new Date(expires).toISOString()}`]),
    ...models.map((model) => `--model ${quoted(model)}`),
    ...(rpm ? [`--rpm ${rpm}`] : []),
    ...(tpm ? [`--tpm ${tpm}`] : []),
  ].join(' ');

/** `{gpt-4o,"my model"}`. Groups such as `all-team-models` are no models. */
function arrayOf(text = ''): string[] {
  const inner = /^\{(.*)\}$/s.exec(text)?.[1] ?? '';
  const items = [...inner.matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/g)].map(
    ([, quotedItem, plain]) => quotedItem?.replaceAll(/\\(.)/g, '$1') ?? plain ?? '',
  );
  return items.filter((item) => !/^all-|^no-default-models$/.test(item));
}

/** RFC 4180. */
function recordsOf(csv: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  for (const [, quotedCell, plain = '', end = ''] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    record.push(quotedCell?.replaceAll('""', '"') ?? plain);
    if (end === ',') continue;
    if (record.some((cell) => cell !== '')) records.push(record);
    record = [];
  }
  return records;
}
