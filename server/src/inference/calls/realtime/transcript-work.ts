import { hash } from 'node:crypto';
import type { InferenceEndpoint } from '@tallygate/contract';
import type { AnswerForm } from '../answer-form.ts';
import type { Dialect } from '../dialect.ts';
import { MOST_TOKENS_SAID_PER_SECOND, TOKENS_PER_SECOND } from '../transcription-work.ts';
import { NO_USAGE } from '../usage.ts';
import type { Work } from '../work.ts';

const TRANSCRIPTIONS = '/v1/audio/transcriptions' satisfies InferenceEndpoint;
/** What a provider adds to a prompt. */
const UNSEEN_TOKENS = 64;

/** What of a turn is to be held. */
export interface TranscriptAsk {
  readonly model: string;
  /** Of sound, at most. */
  readonly seconds: number;
  readonly promptBytes: number;
  /** Whose connection it is: the transcript is its own. */
  readonly provider: string;
}

/** Its events are read where they pass, so a whole answer never is. */
const FORM: AnswerForm = {
  read: () => undefined,
  openStream: () => {
    throw new Error('A connection has no stream of one transcript');
  },
  usageIn: () => undefined,
};

/** The transcript of one turn of a session, as admission and settlement know a request. */
export function transcriptWork({ model, seconds, promptBytes, provider }: TranscriptAsk): Work {
  const only = new Set([provider.toLowerCase()]);
  return {
    endpoint: TRANSCRIPTIONS,
    model,
    fallbackModels: [],
    isStream: true,
    needs: [],
    dialects: [{ endpoint: TRANSCRIPTIONS, request: { model }, form: FORM } as Dialect],
    preference: {
      ...{ order: [], only, ignore: new Set<string>(), allowsFallbacks: true, sort: undefined },
      ...{ maxInput: undefined, maxOutput: undefined },
    },
    output: null,
    cheaper: 'speak in shorter turns, or leave `audio.input.transcription` out',
    estimatedTokens: 0,
    bound: () => ({
      inputTokens: seconds * TOKENS_PER_SECOND + promptBytes + UNSEEN_TOKENS,
      fixedOutputTokens: seconds * MOST_TOKENS_SAID_PER_SECOND + UNSEEN_TOKENS,
      audioSeconds: seconds,
    }),
    // What a provider leaves unsaid is settled at its bound.
    estimate: async () => NO_USAGE,
    requestSha256: () => hash('sha256', `${model} ${seconds}`, 'hex'),
  };
}
