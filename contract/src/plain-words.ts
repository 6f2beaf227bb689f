import type * as z from 'zod';

/** An issue as zod hands it to anyone who words it: with the input that is at fault. */
type Issue = z.core.$ZodRawIssue;

/**
 * What is wrong with a field, in words that go on from its name: `must have at least 1 character`. Zod's own texts are for programmers of
 * schemas; these are for anyone who sent the request.
 */
export function inPlainWords(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return ofWrongType(issue);
    case 'too_small':
      return ofWrongSize(issue, issue.origin, Number(issue.minimum), issue.inclusive ? 'at least' : 'more than');
    case 'too_big':
      return ofWrongSize(issue, issue.origin, Number(issue.maximum), issue.inclusive ? 'at most' : 'less than');
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'is not written as it has to be';
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return ofUnknownFields(issue.keys);
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be ${oneOf(issue.values.map(quoted))}`;
    case 'invalid_union':
      return ofNoMember(issue);
    case 'invalid_key':
    case 'invalid_element':
      return firstOf(issue.issues) ?? 'has a name that is not allowed';
    case 'custom':
      return 'is not valid';
    default:
      issue satisfies never;
      return 'is not valid';
  }
}

const TOLD_FIELDS = 10;
const TOLD_CHARACTERS = 100;

/** Of many, the first: the caller knows what was sent. */
function ofUnknownFields(names: readonly string[]): string {
  const told = names.slice(0, TOLD_FIELDS).map((name) => quoted(name.slice(0, TOLD_CHARACTERS)));
  const more = names.length > told.length ? ` and ${names.length - told.length} more` : '';
  return `has ${names.length === 1 ? 'a field' : 'fields'} that ${names.length === 1 ? 'is' : 'are'} not known: ${told.join(', ')}${more}`;
}

type Of<Code extends Issue['code']> = Extract<Issue, { code: Code }>;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  nan: 'not a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  tuple: 'an array',
  set: 'an array',
  object: 'an object',
  record: 'an object',
  map: 'an object',
  null: 'null',
  bigint: 'a whole number',
  date: 'a date',
  file: 'a file',
};

const typeWords = (type: string): string => TYPES[type] ?? type;

function ofWrongType({ input, expected }: Of<'invalid_type'>): string {
  if (input === undefined) return 'is required';
  const wanted = typeWords(expected);
  // The value of a query parameter or a header is always text.
  if (typeof input === 'number')
    return Number.isFinite(input) && expected !== 'int' ? `must be ${wanted}, not a number` : `must be ${wanted}`;
  return `must be ${wanted}, not ${givenWords(input)}`;
}

function givenWords(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'an array';
  if (typeof input === 'boolean') return String(input);
  return typeWords(typeof input);
}

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item', map: 'pair', file: 'byte' };

function ofWrongSize({ exact }: Of<'too_small'> | Of<'too_big'>, origin: string, limit: number, how: string): string {
  const unit = UNITS[origin];
  const bound = exact ? 'exactly' : how;
  if (unit === undefined) return `must be ${bound} ${limit}`;
  return `must have ${bound} ${limit} ${unit}${limit === 1 ? '' : 's'}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address such as ada@example.com',
  uuid: 'must be an id such as 019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  url: 'must be a URL such as https://example.com',
  datetime: 'must be a time in UTC such as 2026-11-21T08:00:00Z',
  date: 'must be a day such as 2026-11-21',
  time: 'must be a time of day such as 08:00:00',
  base64: 'must be base64',
  base64url: 'must be base64url',
  ipv4: 'must be an IPv4 address',
  ipv6: 'must be an IPv6 address',
  cidrv4: 'must be an IPv4 network such as 10.0.0.0/8',
  cidrv6: 'must be an IPv6 network such as 2001:db8::/32',
  json_string: 'must be JSON',
};

/** None of the forms fits. Where all of them are simple types, or values of one field, they are named. */
function ofNoMember(issue: Of<'invalid_union'>): string {
  const options = 'options' in issue && Array.isArray(issue.options) ? issue.options : [];
  if (options.length > 0) return `must be ${oneOf(options.map(quoted))}`;
  if (issue.input === undefined) return 'is required';
  const firsts = issue.errors.map(([first]) => first);
  const types = firsts.flatMap((first) => (first?.code === 'invalid_type' && first.path.length === 0 ? [typeWords(first.expected)] : []));
  if (types.length === firsts.length && types.length > 0) return `must be ${oneOf([...new Set(types)])}`;
  // The form that was meant is the one of the right type: what is wrong with it says more than that no form fits.
  const meant = issue.errors.filter(([first]) => !(first?.code === 'invalid_type' && first.path.length === 0));
  const [only] = meant;
  if (meant.length !== 1 || !only) return 'has none of the forms that it may have';
  const [first] = only;
  return first?.path.length === 0 ? first.message : 'has none of the forms that it may have';
}

const firstOf = (issues: readonly { readonly message: string }[]): string | undefined => {
  const [first] = issues;
  return first && `has a name that ${first.message}`;
};

const quoted = (value: unknown): string => (typeof value === 'string' ? `"${value}"` : String(value));

function oneOf(words: readonly string[]): string {
  if (words.length <= 1) return words[0] ?? 'nothing';
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
