import { andThen, type Soon } from '../../kernel/soon.ts';
import type { AnswerForm, PlainAnswer } from './answer-form.ts';
import { jsonObjectOf } from './json-answer.ts';
import { atLeast } from './usage.ts';
import { mostOfSeveral } from './usage-anywhere.ts';

/**
 * A plain answer in which an object names its usage more than once costs the largest counts that it says, in every form: of a name that comes
 * twice `JSON.parse` knows the last alone.
 */
export function withRepeatedUsage(bytes: Buffer, answer: PlainAnswer, { usageIn }: Pick<AnswerForm, 'usageIn'>): Soon<PlainAnswer> {
  const most = mostOfSeveral(bytes);
  if (!most) return answer;
  return andThen(jsonObjectOf(bytes), (value) => {
    // Elsewhere several are those of choices, or a member of what the model wrote.
    if (timesNamed(bytes) <= namesIn(value)) return answer;
    const named = usageIn(most);
    if (!named) return answer;
    // How many images were made is counted here.
    const { images: _, ...said } = named;
    const { usage, usageSaid } = answer;
    return { ...answer, usage: usage && atLeast(said, usage), usageSaid: usageSaid ? atLeast(said, usageSaid) : said };
  });
}

/** Inside of a JSON string quotes are escaped: these are names. */
const NAMED = /"(?:usage|billed_units)"\s*:/g;
const timesNamed = (json: Buffer): number => json.toString('utf8').match(NAMED)?.length ?? 0;

function namesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [name, member]) => sum + (name === 'usage' || name === 'billed_units' ? 1 : 0) + namesIn(member),
    0,
  );
}
