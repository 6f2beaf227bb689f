/** SQL of one migration, in the order in which it is applied. */
export interface MigrationSql {
  readonly name: string;
  readonly sql: string;
}

/** A statement that blocks other users of a large table. */
export interface LongLock {
  readonly migration: string;
  readonly table: string;
  readonly why: string;
}

const NAME = '(?:public\\.)?"?([a-z_][a-z0-9_]*)"?';
const CREATED = new RegExp(`^create (?:unlogged )?table (?:if not exists )?${NAME}`);
const RENAMED = new RegExp(`^alter table (?:if exists )?(?:only )?${NAME} rename to ${NAME}`);
const ALTERED = new RegExp(`^alter table (?:if exists )?(?:only )?${NAME} (.*)$`);
const INDEXED = new RegExp(`^create (?:unique )?index (concurrently )?.*? ?on (only )?${NAME}`);
const CHANGED = new RegExp(
  `^(?:with .*?\\) ?)?(update|delete from|truncate(?: table)?|lock(?: table)?|cluster|vacuum full|reindex table) (?:only )?${NAME}`,
);
const COPIED = new RegExp(`^insert into ${NAME}\\b.*\\bselect\\b`);
/** What an added column may say by default without every row being written again. */
const CONSTANT = /^(?:null|true|false|now\(\)|current_timestamp|-?[\d.]+|'(?:[^']|'')*'(?:::[a-z_]+(?:\[\])?)?)(?=\s|,|$)/;

/** What the statements of migrations do to tables of that name which are there before, and may be large by then. */
export function longLocks(migrations: readonly MigrationSql[], isLarge: (table: string) => boolean): LongLock[] {
  return migrations.flatMap(({ name: migration, sql }) => {
    // Of this migration, with the name that they have by now.
    const made = new Set<string>();
    return statementsOf(sql).flatMap((statement) => {
      const [, created] = CREATED.exec(statement) ?? [];
      if (created !== undefined) made.add(created);
      const [, from, to] = RENAMED.exec(statement) ?? [];
      if (from !== undefined && to !== undefined) {
        if (made.delete(from)) made.add(to);
        else if (isLarge(from))
          return [{ migration, table: from, why: 'another name, under which a gateway of the last version does not find it' }];
      }
      const found = locksOf(statement);
      return found.flatMap(({ table, why }) => (isLarge(table) && !made.has(table) ? [{ migration, table, why }] : []));
    });
  });
}

function locksOf(statement: string): Omit<LongLock, 'migration'>[] {
  const [, concurrently, only, indexed] = INDEXED.exec(statement) ?? [];
  if (indexed !== undefined) return concurrently || only ? [] : [{ table: indexed, why: 'an index that is not made concurrently' }];
  const [, verb, changed] = CHANGED.exec(statement) ?? [];
  if (verb !== undefined && changed !== undefined) return [{ table: changed, why: `${verb} of rows, in one transaction` }];
  const [, copied] = COPIED.exec(statement) ?? [];
  if (copied !== undefined) return [{ table: copied, why: 'rows from a query, in one transaction' }];
  const [, altered, actions] = ALTERED.exec(statement) ?? [];
  if (altered === undefined || actions === undefined) return [];
  return actionsOf(actions).flatMap((action) => {
    const why = whyLong(action);
    return why === undefined ? [] : [{ table: altered, why }];
  });
}

function whyLong(action: string): string | undefined {
  if (/^alter (?:column )?\S+ (?:set data )?type\b/.test(action)) return 'another type';
  if (/^alter (?:column )?\S+ set not null/.test(action)) return 'not null, for which every row is read';
  if (/^alter (?:column )?\S+ add generated/.test(action)) return 'a generated column';
  if (/^add (?:constraint|primary key|unique|foreign key|check|exclude)\b/.test(action))
    return / using index | not valid$/.test(action) ? undefined : 'a constraint that is not NOT VALID';
  if (/^set (?:tablespace|logged|unlogged)/.test(action)) return 'every row is written again';
  return /^add (?:column )?/.test(action) ? whyLongColumn(action) : undefined;
}

function whyLongColumn(action: string): string | undefined {
  if (/ generated /.test(action) || / (?:small|big)?serial\b/.test(action)) return 'a column that is computed for every row';
  if (/ (?:check|references|unique|primary key)\b/.test(action)) return 'a column with a constraint';
  const byDefault = / default (.*)$/.exec(action)?.[1];
  return byDefault !== undefined && !CONSTANT.test(byDefault) ? 'a column whose default is no constant' : undefined;
}

/** In lower case, one line each. The bodies of created functions are left out; those of `do` blocks are included. */
function statementsOf(sql: string): string[] {
  const bare = sql
    .replace(/--.*$/gm, '')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(\bdo\s+)?(\$[a-z_]*\$)([\s\S]*?)\2/gi, (_all, isDone: string | undefined, _tag, body: string) =>
      isDone === undefined ? "''" : `; ${body} ;`,
    )
    .replace(/\s+/g, ' ');
  // Text that a block executes, and the rest of its line, are statements too.
  return bare
    .split(/;|\bbegin\b|\bloop\b|\bthen\b|\belse\b|execute format\(\s*'|execute\s+'|`/i)
    .map((statement) => statement.trim().toLowerCase())
    .filter((statement) => statement !== '');
}

/** Of one `alter table`, separated by commas outside of parentheses and strings. */
function actionsOf(actions: string): string[] {
  const list: string[] = [];
  let depth = 0;
  let isText = false;
  let from = 0;
  for (const [at, letter] of [...actions].entries()) {
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    if (letter === "'") isText = !isText;
    if (letter !== ',' || depth > 0 || isText) continue;
    list.push(actions.slice(from, at).trim());
    from = at + 1;
  }
  return [...list, actions.slice(from).trim()];
}
