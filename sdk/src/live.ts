import type { LiveFigures } from './generated/models.ts';
import { Live as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { EventStream } from './transport/event-stream.ts';

/** `tallygate.live`: what is spent and held now. */
export class Live extends Generated {
  /** Everything at first, then what has changed, at most once a second. It ends when the credential does or the gateway stops: begin it again. */
  follow(options?: CallOptions): Call<EventStream<LiveFigures>> {
    return this.transport.events<LiveFigures>({ method: 'GET', path: '/v1/live', query: { stream: true } }, options);
  }
}
