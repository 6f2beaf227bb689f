import { writtenJson } from '../../../kernel/written-json.ts';
import { requireEventSpelling } from '../cost-fields/index.ts';
import { isRecord } from '../usage.ts';
import { ITEMS, invalid, type RealtimeEvent } from './events.ts';
import type { SessionHost } from './session-host.ts';

/** What changes nothing that is held. */
const PLAIN: ReadonlySet<string> = new Set([
  ...['conversation.item.retrieve', 'conversation.item.truncate', 'conversation.item.delete'],
  ...['output_audio_buffer.clear', 'response.cancel'],
]);

const FOUR_CHARACTERS = 'AAAA';

/**
 * An event of the client on its way to the provider. It is written anew: a name that is in it twice would be read by the one here, and by the
 * other one there. What is not known may begin what nobody has held, so it is refused.
 *
 * @param frame the event as it was received
 * @throws Problem
 */
export async function takeClientEvent(session: SessionHost, event: RealtimeEvent, frame: Buffer): Promise<void> {
  const { conversation, settings, provider, transcripts } = session;
  requireEventSpelling(event);
  switch (event.type) {
    case 'response.create':
      return session.ask(event, frame);
    case 'session.update': {
      const asked = settings.check(event);
      const change = settings.change(event, asked, await transcripts.prepare(asked));
      const secondsBefore = conversation.secondsOf(FOUR_CHARACTERS);
      conversation.configure(Object(change['session']));
      transcripts.stretch(conversation.secondsOf(FOUR_CHARACTERS) / secondsBefore);
      // What was sent before it may be in the turn that is written down first.
      await transcripts.cover().catch((thrown: unknown) => {
        settings.refused(String(change.event_id));
        throw thrown;
      });
      return provider.send(await writtenJson(change));
    }
    case 'conversation.item.create': {
      const { item } = event;
      if (!isRecord(item) || !ITEMS.has(item['type']))
        throw invalid('An item is a message, a function_call or a function_call_output.', 'item.type');
      conversation.add(item);
      return provider.send(await writtenJson(event));
    }
    case 'input_audio_buffer.append': {
      const { audio } = event;
      if (typeof audio !== 'string') throw invalid('`audio` is sound in base64.', 'audio');
      await transcripts.hear(conversation.secondsOf(audio));
      conversation.hear(audio);
      return provider.send(await writtenJson(event));
    }
    case 'input_audio_buffer.commit':
      return provider.send(await writtenJson({ ...event, event_id: await transcripts.marks('commit', event.event_id) }));
    case 'input_audio_buffer.clear':
      conversation.clears();
      return provider.send(await writtenJson({ ...event, event_id: await transcripts.marks('clear', event.event_id) }));
    default:
      if (!PLAIN.has(event.type)) throw invalid(`There is no client event of the type "${event.type.slice(0, 60)}".`, 'type');
      return provider.send(await writtenJson(event));
  }
}
