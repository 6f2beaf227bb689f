import type { ReceiptUsage } from '@tallygate/contract';
import { readJson } from '../../kernel/read-json.ts';
import { andThen, type Soon } from '../../kernel/soon.ts';
import { statedUsage } from '../../kernel/stated-usage.ts';
import { writtenJson } from '../../kernel/written-json.ts';
import type { AnswerForm, PlainAnswer, StreamFilter } from './answer-form.ts';
import { isRecord } from './usage.ts';

type Json = Readonly<Record<string, unknown>>;

/** The JSON object that the bytes are, or undefined. */
export function jsonObjectOf(bytes: Buffer): Soon<Json | undefined> {
  try {
    const reading = readJson(bytes);
    return reading instanceof Promise ? reading.then(objectIn, () => undefined) : objectIn(reading);
  } catch {
    return undefined;
  }
}

const objectIn = (value: unknown): Json | undefined => (isRecord(value) ? value : undefined);

interface JsonForm {
  /** Whether it is an answer of the endpoint at all. */
  isAnswer(value: Json): boolean;
  readUsage(usage: unknown, value: Json): ReceiptUsage | undefined;
  /** The `usage` where the provider said nothing; undefined: the answer shows none. */
  usageForClient(usage: ReceiptUsage): Json | undefined;
}

/** Answers that are one JSON object with its usage at the top, and never streamed. */
export const jsonForm = ({ isAnswer, readUsage, usageForClient }: JsonForm): AnswerForm => ({
  read: (bytes) =>
    andThen(jsonObjectOf(bytes), (value): PlainAnswer | undefined => {
      if (!value || !isAnswer(value)) return undefined;
      const usage = readUsage(statedUsage(value), value);
      return {
        contentType: 'application/json',
        usage,
        delivered: { text: '', scale: 1 },
        value,
        toBytes({ usage: counted, costUsd }) {
          const shown = usage && typeof value['usage'] === 'object' ? value['usage'] : usageForClient(counted);
          return writtenJson(shown ? { ...value, usage: { ...shown, cost: costUsd } } : value);
        },
      };
    }),
  usageIn: (usage) => readUsage(usage, { usage }),
  openStream(): StreamFilter {
    throw new Error('This endpoint does not stream');
  },
});
