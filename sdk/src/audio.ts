import type { SpeechRequest, Transcript, TranscriptionRequest, TranscriptStreamEvent, TranslationRequest } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import { type InferenceOptions, inferenceHeaders } from './transport/call-options.ts';
import type { EventStream } from './transport/event-stream.ts';
import { formOf } from './transport/form.ts';
import { Resource } from './transport/resource.ts';
import type { Transport } from './transport/transport.ts';

/** A recording; a `File` has a name, from which some models detect the format. */
interface Recording {
  readonly file: Blob;
}
type AsJson = { readonly response_format?: 'json' | 'verbose_json' | 'diarized_json' | undefined; readonly stream?: false | undefined };
type AsText = { readonly response_format: 'text' | 'srt' | 'vtt'; readonly stream?: false | undefined };
type Streamed = { readonly response_format?: 'json' | 'diarized_json' | undefined; readonly stream: true };
type TextOrData = 'json' | 'verbose_json' | 'diarized_json' | 'text' | 'srt' | 'vtt';

/** `tallygate.audio.speech` */
export class Speech extends Resource {
  /** Speaks a text. The bytes come as they are made: `await (await speech.create(…)).blob()`, or its `body`. */
  create(request: SpeechRequest, options: InferenceOptions = {}): Call<Response> {
    return this.transport.download(
      { method: 'POST', path: '/v1/audio/speech', body: request, headers: inferenceHeaders(options) },
      options,
    );
  }
}

/** `tallygate.audio.transcriptions` */
export class Transcriptions extends Resource {
  /** Writes a recording down: as data, as text (`await response.text()`), or (with `stream: true`) as it is heard. */
  create(
    request: Omit<TranscriptionRequest, 'stream' | 'response_format'> & Recording & AsJson,
    options?: InferenceOptions,
  ): Call<Transcript>;
  create(
    request: Omit<TranscriptionRequest, 'stream' | 'response_format'> & Recording & AsText,
    options?: InferenceOptions,
  ): Call<Response>;
  create(
    request: Omit<TranscriptionRequest, 'stream' | 'response_format'> & Recording & Streamed,
    options?: InferenceOptions,
  ): Call<EventStream<TranscriptStreamEvent>>;
  create(
    request: Omit<TranscriptionRequest, 'stream' | 'response_format'> &
      Recording & { readonly response_format?: TextOrData | undefined; readonly stream?: boolean | undefined },
    options: InferenceOptions = {},
  ): Call<Transcript | Response | EventStream<TranscriptStreamEvent>> {
    const operation = {
      method: 'POST',
      path: '/v1/audio/transcriptions',
      form: formOf({ ...request }),
      headers: inferenceHeaders(options),
    } as const;
    if (request.stream)
      return this.transport.events<TranscriptStreamEvent>(operation, options, ({ type }) => type === 'transcript.text.done');
    return heard(this.transport, operation, request.response_format, options);
  }
}

/** `tallygate.audio.translations` */
export class Translations extends Resource {
  /** Writes a recording in any language down in English. */
  create(request: Omit<TranslationRequest, 'response_format'> & Recording & AsJson, options?: InferenceOptions): Call<Transcript>;
  create(request: Omit<TranslationRequest, 'response_format'> & Recording & AsText, options?: InferenceOptions): Call<Response>;
  create(
    request: Omit<TranslationRequest, 'response_format'> & Recording & { readonly response_format?: TextOrData | undefined },
    options: InferenceOptions = {},
  ): Call<Transcript | Response> {
    const operation = {
      method: 'POST',
      path: '/v1/audio/translations',
      form: formOf({ ...request }),
      headers: inferenceHeaders(options),
    } as const;
    return heard(this.transport, operation, request.response_format, options);
  }
}

const TEXT_FORMATS = new Set<string | undefined>(['text', 'srt', 'vtt']);

const heard = (
  transport: Transport,
  operation: Parameters<Transport['json']>[0],
  format: string | undefined,
  options: InferenceOptions,
): Call<Transcript | Response> =>
  TEXT_FORMATS.has(format)
    ? transport.download({ ...operation, isOnce: true }, options)
    : transport.json<Transcript>({ ...operation, isOnce: true }, options);

/** `tallygate.audio` */
export class Audio {
  readonly speech: Speech;
  readonly transcriptions: Transcriptions;
  readonly translations: Translations;

  constructor(transport: Transport) {
    this.speech = new Speech(transport);
    this.transcriptions = new Transcriptions(transport);
    this.translations = new Translations(transport);
  }
}
