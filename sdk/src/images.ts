import type { ImageEditRequest, ImageGenerationRequest, ImageList, ImageStreamEvent, ImageVariationRequest } from './generated/models.ts';
import type { Call } from './transport/call.ts';
import { type InferenceOptions, inferenceHeaders } from './transport/call-options.ts';
import type { EventStream } from './transport/event-stream.ts';
import { formOf } from './transport/form.ts';
import { Resource } from './transport/resource.ts';

type Plain<Request> = Request & { stream?: false | null | undefined };
type Streamed<Request> = Request & { stream: true };

/** Pictures to start from. */
export interface ImageFiles {
  /** Up to sixteen. */
  readonly image: Blob | readonly Blob[];
  /** Where to edit: transparent there. */
  readonly mask?: Blob | undefined;
}

/** `tallygate.images` */
export class Images extends Resource {
  /** Makes images of words, whole or (with `stream: true`) with partial ones on the way. */
  generate(request: Plain<ImageGenerationRequest>, options?: InferenceOptions): Call<ImageList>;
  generate(request: Streamed<ImageGenerationRequest>, options?: InferenceOptions): Call<EventStream<ImageStreamEvent>>;
  generate(request: ImageGenerationRequest, options: InferenceOptions = {}): Call<ImageList | EventStream<ImageStreamEvent>> {
    const operation = { method: 'POST', path: '/v1/images/generations', body: request, headers: inferenceHeaders(options) } as const;
    return request.stream
      ? this.transport.events<ImageStreamEvent>(operation, options, lastOf(request.n))
      : this.transport.json<ImageList>({ ...operation, isOnce: true }, options);
  }

  /** Makes new images of given ones. */
  edit(request: Plain<ImageEditRequest> & ImageFiles, options?: InferenceOptions): Call<ImageList>;
  edit(request: Streamed<ImageEditRequest> & ImageFiles, options?: InferenceOptions): Call<EventStream<ImageStreamEvent>>;
  edit(request: ImageEditRequest & ImageFiles, options: InferenceOptions = {}): Call<ImageList | EventStream<ImageStreamEvent>> {
    const operation = {
      method: 'POST',
      path: '/v1/images/edits',
      form: formOf({ ...request }),
      headers: inferenceHeaders(options),
    } as const;
    return request.stream
      ? this.transport.events<ImageStreamEvent>(operation, options, lastOf(request.n))
      : this.transport.json<ImageList>({ ...operation, isOnce: true }, options);
  }

  /** Varies an image, with models that can. */
  vary(request: ImageVariationRequest & { readonly image: Blob }, options: InferenceOptions = {}): Call<ImageList> {
    return this.transport.json(
      { method: 'POST', path: '/v1/images/variations', form: formOf({ ...request }), headers: inferenceHeaders(options), isOnce: true },
      options,
    );
  }
}

/** Each image of a stream has its own completed event. */
function lastOf(images: number | null | undefined): (event: ImageStreamEvent) => boolean {
  let left = images ?? 1;
  return ({ type }) => {
    if (type.endsWith('.completed')) left -= 1;
    return left === 0;
  };
}
