import type { StreamForm } from '../step.ts';

/** Events in the order given, in the form that the step asks for; named ones as OpenAI's responses and images have them. */
export function* framed(
  events: readonly object[],
  form: StreamForm,
  options: { isNamed: boolean; endsInDone?: boolean },
): Generator<string> {
  const lineEnd = form.lineEnd ?? '\n';
  const ping = form.pings ? `: ping${lineEnd}${lineEnd}` : '';
  const frame = (data: string, name?: string): string =>
    `${ping}${name === undefined ? '' : `event: ${name}${lineEnd}`}data: ${data}${lineEnd}${lineEnd}`;
  for (const [index, event] of events.entries()) {
    if (index === form.errorAfter) {
      const error = { message: 'The scripted provider failed.', type: 'server_error', param: null, code: null };
      const named = { ...error, type: 'error', error, sequence_number: index };
      yield options.isNamed ? frame(JSON.stringify(named), 'error') : frame(JSON.stringify({ error }));
      return;
    }
    yield frame(JSON.stringify(event), options.isNamed && 'type' in event ? String(event.type) : undefined);
  }
  if (options.endsInDone && form.done !== false) yield frame('[DONE]');
}
