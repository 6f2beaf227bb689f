import type { UpstreamAnswer, UpstreamCall, UpstreamCallOf, UpstreamEndpoint } from '../../port.ts';
import { createSandboxProvider } from '../index.ts';

export const NOW = Date.parse('2026-11-21T08:00:00.000Z');

type Overrides<E extends UpstreamEndpoint> = Partial<
  Pick<UpstreamCall, 'model' | 'files' | 'stream' | 'firstByteTimeoutMs' | 'idleTimeoutMs' | 'signal' | 'sandboxFault'>
> & { readonly maxOutputTokens?: UpstreamCallOf<E>['maxOutputTokens'] };

/** Asks the sandbox, at a clock that stands still, in the way of one endpoint. */
export function sandboxAt<E extends UpstreamEndpoint>(
  endpoint: E,
  usual: { readonly model: string; readonly maxOutputTokens: UpstreamCallOf<E>['maxOutputTokens'] },
  call: (call: UpstreamCallOf<E>) => UpstreamCall,
) {
  const sandbox = createSandboxProvider({ clock: { now: () => NOW }, nonce: () => 'once' });
  const ask = (request: UpstreamCallOf<E>['request'], overrides: Overrides<E> = {}) =>
    sandbox.call(
      call({
        endpoint,
        ...usual,
        request,
        stream: false,
        firstByteTimeoutMs: 5000,
        idleTimeoutMs: 5000,
        signal: new AbortController().signal,
        ...overrides,
      }),
    );
  const answer = async (request: UpstreamCallOf<E>['request'], overrides: Overrides<E> = {}): Promise<UpstreamAnswer> => {
    const outcome = await ask(request, overrides);
    if (!outcome.ok) throw new Error(`Expected an answer, got ${outcome.kind}: ${outcome.message}`);
    return outcome;
  };
  const bytes = async (request: UpstreamCallOf<E>['request'], overrides: Overrides<E> = {}) =>
    (await answer(request, overrides)).collect(500_000_000);
  return {
    /** The outcome, whatever it is. */
    ask,
    answer,
    bytes,
    json: async (request: UpstreamCallOf<E>['request'], overrides: Overrides<E> = {}) =>
      JSON.parse((await bytes(request, overrides)).toString()),
    /** The data of every event of a stream; `[DONE]` as it is. */
    events: async (request: UpstreamCallOf<E>['request'], overrides: Overrides<E> = {}) =>
      eventsOf((await bytes(request, { ...overrides, stream: true })).toString()),
  };
}

/** The events of a stream, with the name that stands before the data, if one does. */
function eventsOf(text: string) {
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const [, name, data = ''] = /^(?:event: (.*)\n)?data: (.*)$/s.exec(event) ?? [];
      return data === '[DONE]' ? { name, data: '[DONE]' as const } : { name, data: JSON.parse(data) };
    });
}
