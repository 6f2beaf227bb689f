import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { SiteEventResponseFields } from '../generated/fields.ts';
import { showEvent } from './show-event.ts';

/** `events publish`, `events unpublish`, `events archive`. */
export function moveEvents(events: Command, perform: Perform): void {
  const step = (name: string, description: string, run: typeof publish) =>
    withJson(SiteEventResponseFields, events.command(name).description(description).argument('<slug>')).action(perform(run));
  step('publish', 'Show a draft to everybody; needs the role marketing or admin', publish);
  step('unpublish', 'Make a published event a draft again; its registrations stay', unpublish);
  step('archive', 'Put an event away permanently; for administrators', archive);
}

async function publish(world: CommandWorld, { args: [slug = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  showEvent(world, await client.marketingEvents.publish(slug, { signal: world.signal }));
}

async function unpublish(world: CommandWorld, { args: [slug = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  showEvent(world, await client.marketingEvents.unpublish(slug, { signal: world.signal }));
}

async function archive(world: CommandWorld, { args: [slug = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  const { event_id } = await client.marketingEvents.get(slug, { signal: world.signal });
  showEvent(world, await client.events.archive(event_id, { signal: world.signal }));
}
