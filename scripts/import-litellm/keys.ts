import { type Budget, budgetOf } from './budgets.ts';
import { isNothing, quoted } from './words.ts';

export interface ImportedKeys {
  /** A command for each key, which prints the new secret once, and one for the limit that is no cap of a month. */
  readonly commands: readonly string[];
  readonly count: number;
  readonly leftOut: readonly string[];
}

type Row = Readonly<Record<string, string>>;

/** Columns that become something here. */
const READ = [
  'key_alias',
  'key_name',
  'models',
  'max_budget',
  'budget_duration',
  'rpm_limit',
  'tpm_limit',
  'max_parallel_requests',
  'blocked',
  'expires',
];
/** Columns that limit nothing: who and when, and what was spent. */
const OF_THE_PAST =
  /^(token|spend|model_spend|budget_reset_at|created_at|updated_at|created_by|updated_by|last_active|last_rotation_at|rotation_count)$/;
/** Says that a key may use everything. */
const ALL_MODELS = 'all-proxy-models';
const GROUPS = /^all-|^no-default-models$/;

/** @param csv of `"LiteLLM_VerificationToken"`, with a line of column names, as `psql --csv` writes it */
export function importKeys(csv: string, nowMs: number): ImportedKeys {
  const [columns = [], ...rows] = recordsOf(csv);
  const commands: string[] = [];
  const leftOut: string[] = [];
  let count = 0;
  for (const [index, cells] of rows.entries()) {
    const row = Object.fromEntries(columns.map((column, at) => [column, cells[at] ?? '']));
    const name = row['key_alias'] || row['key_name'] || `litellm-${index + 1}`;
    const expires = row['expires'] ? Date.parse(row['expires']) : undefined;
    if (isTrue(row['blocked'])) leftOut.push(`key ${name}: blocked`);
    else if (expires !== undefined && expires <= nowMs) leftOut.push(`key ${name}: expired`);
    else {
      const budget = row['max_budget'] ? budgetOf(row['max_budget'], row['budget_duration'] ?? '') : undefined;
      commands.push(...commandsOf(name, { row, budget, expires }));
      leftOut.push(...unreadOf(row, budget).map((said) => `key ${name}: ${said}`));
      count += 1;
    }
  }
  return { commands, count, leftOut };
}

const isTrue = (text: string | undefined): boolean => text === 't' || text === 'true';

/** Everything in the row that would be lost without a word. */
function unreadOf(row: Row, budget: Budget | undefined): string[] {
  const groups = arrayOf(row['models']).filter((model) => GROUPS.test(model) && model !== ALL_MODELS);
  const others = Object.entries(row).filter(([column, value]) => !READ.includes(column) && !OF_THE_PAST.test(column) && !isNothing(value));
  return [
    ...(budget?.stricter === undefined ? [] : [budget.stricter]),
    ...groups.map((group) => `its models are ${group}, which is no list of models: name them with --model, or it may use all`),
    ...others.map(([column, value]) => `${column} ${value}`),
  ];
}

interface Wanted {
  readonly row: Row;
  readonly budget: Budget | undefined;
  /** Epoch milliseconds. */
  readonly expires: number | undefined;
}

/** The limit of a key is set once its id is known. */
function commandsOf(name: string, { row, budget, expires }: Wanted): string[] {
  const option = (flag: string, column: string): string[] => (row[column] ? [`--${flag} ${quoted(row[column])}`] : []);
  const create = [
    `npx tallygate keys create --name ${quoted(name)}`,
    ...(budget?.period === 'month' ? [`--cap ${quoted(budget.usd)}`] : []),
    ...(expires === undefined ? [] : [`--expires ${new Date(expires).toISOString()}`]),
    ...arrayOf(row['models'])
      .filter((model) => !GROUPS.test(model))
      .map((model) => `--model ${quoted(model)}`),
    ...option('rpm', 'rpm_limit'),
    ...option('tpm', 'tpm_limit'),
    ...option('concurrency', 'max_parallel_requests'),
    '--json key_id,name,key',
  ].join(' ');
  if (!budget || budget.period === 'month') return [create];
  return [
    `made=$(${create})`,
    `printf '%s\\n' "$made"`,
    `key_id=$(printf '%s\\n' "$made" | id_of)`,
    `npx tallygate limits set --kind key --subject "$key_id" --period ${budget.period} --cap ${quoted(budget.usd)} >&2`,
  ];
}

/** `{gpt-4o,"my model"}`. */
function arrayOf(text = ''): string[] {
  const inner = /^\{(.*)\}$/s.exec(text)?.[1] ?? '';
  return [...inner.matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/g)].map(
    ([, quotedItem, plain]) => quotedItem?.replaceAll(/\\(.)/g, '$1') ?? plain ?? '',
  );
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
