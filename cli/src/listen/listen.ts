import { setTimeout as pause } from 'node:timers/promises';
import type { Tallygate, WebhookEvent } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { WebhookEventNameValues } from '../generated/fields.ts';
import { wholeNumber } from '../option-values.ts';
import { ifPassing } from '../passing.ts';
import { plainText, writeJsonLine } from '../print.ts';
import { type Forwarding, forward, newForwarding } from './forward.ts';

interface Options {
  readonly type?: readonly WebhookEvent['type'][];
  readonly after?: number;
  readonly gateway?: true;
  readonly forwardTo?: string;
  readonly secret?: string;
}

const FIELDS = ['type', 'id', 'timestamp', 'account_id', 'sequence', 'data'];
/** The gateway holds the question back for so long while nothing happens. */
const WAIT_SECONDS = 20;
const PAGE = 100;
const RETRY_MS = 1_000;

export const listen = (command: Command, perform: Perform): Command =>
  withJson(
    FIELDS,
    command
      .addOption(new Option('--type <type...>', 'only events of these types').choices(WebhookEventNameValues))
      .option('--after <sequence>', 'begin after this event, as an earlier run named it; default: now', wholeNumber(0))
      .option('--gateway', 'events of the gateway and of every account; for administrators')
      .option('--forward-to <url>', 'send each event there as a webhook would, signed')
      .option('--secret <secret>', 'secret that signs what is forwarded, whsec_…; default: a new one, which is shown'),
  ).action(perform(follow));

/**
 * Asks for the events after the last one that was seen: the gateway answers as soon as there is one, so nothing has to reach this computer from
 * outside. After a break it goes on where it was, so that no event is missed and none comes twice.
 */
async function follow(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { err, signal } = world;
  const client = await world.connect();
  const forwarding = options.forwardTo === undefined ? undefined : newForwarding(options.forwardTo, options.secret);
  const owner = options.gateway ? 'gateway' : 'account';
  let after = options.after ?? (await newest(client, owner, signal));
  if (forwarding && options.secret === undefined) err.write(`Forwarded events are signed with ${forwarding.secret}\n`);
  err.write('Listening; Ctrl-C stops.\n');
  let isAway = false;
  try {
    for (;;) {
      const query = { owner, after_sequence: after, wait_seconds: WAIT_SECONDS, limit: PAGE } as const;
      const page = await client.webhooks.events(query, { signal }).then((found) => found, ifPassing);
      if (page && isAway) err.write('The gateway is back.\n');
      if (!page && !isAway) err.write('The gateway does not answer; trying again, from the same place.\n');
      isAway = !page;
      for (const event of page?.data ?? []) {
        if (options.type === undefined || options.type.includes(event.type)) await take(world, event, forwarding);
        after = event.sequence;
      }
      if (!page) await pause(RETRY_MS, undefined, { signal });
    }
  } finally {
    err.write(`Continue with --after ${after}.\n`);
  }
}

async function newest(client: Tallygate, owner: 'account' | 'gateway', signal: AbortSignal): Promise<number> {
  const { data } = await client.webhooks.events({ owner, limit: 1 }, { signal });
  return data[0]?.sequence ?? 0;
}

async function take(world: CommandWorld, event: WebhookEvent, forwarding: Forwarding | undefined): Promise<void> {
  const { out, err, jsonFields, signal } = world;
  if (jsonFields !== undefined) writeJsonLine(world, event, jsonFields);
  else {
    const cells = [event.timestamp, event.type, factsOf(event)].map(plainText);
    out.write(out.isTty ? `${cells.map((cell, at) => cell.padEnd([24, 24][at] ?? 0)).join('  ')}\n` : `${cells.join('\t')}\n`);
  }
  if (forwarding) err.write(`${await forward(forwarding, event, signal)}\n`);
}

/** `name=search livemode=true` */
const factsOf = ({ data }: WebhookEvent): string =>
  Object.entries(data)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
