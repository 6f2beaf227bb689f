import type { ReceiptUsage, SpeechRequest } from '@tallygate/contract';
import { bytesForm } from './byte-stream.ts';
import type { Received } from './operation.ts';
import { type EventForm, TypedEventStream } from './typed-event-stream.ts';
import { isRecord, NO_USAGE } from './usage.ts';
import type { Work } from './work.ts';

/** Speech is priced by the characters of its text, so what it costs is known before it is made. */
export function speechWork(request: SpeechRequest, { sha256 }: Received): Work {
  const characters = [...request.input].length;
  const usage = { ...NO_USAGE, input_characters: characters };
  const form = bytesForm(usage);
  const isEvents = request.stream_format === 'sse';
  return {
    endpoint: '/v1/audio/speech',
    model: request.model,
    fallbackModels: request.models ?? [],
    isStream: true,
    ...(!isEvents && { mayBeWhole: true }),
    needs: [],
    output: null,
    cheaper: 'shorten `input`',
    estimatedTokens: characters,
    dialects: [
      {
        endpoint: '/v1/audio/speech',
        request,
        form: isEvents ? { ...form, openStream: () => new TypedEventStream(eventForm(usage)) } : form,
      },
    ],
    bound: () => ({ inputTokens: 0, inputCharacters: characters }),
    estimate: async () => usage,
    requestSha256: sha256,
  };
}

const eventForm = (usage: ReceiptUsage): EventForm => ({
  isWatched: (type) => type === 'speech.audio.done',
  isFinal: (type) => type === 'speech.audio.done',
  // The tokens that some models report are not what is charged.
  readUsage: ({ type }) => (type === 'speech.audio.done' ? usage : undefined),
  withCost: (final, { costUsd }) => ({ ...final, usage: { ...(isRecord(final['usage']) ? final['usage'] : {}), cost: costUsd } }),
  textOf: () => '',
});
