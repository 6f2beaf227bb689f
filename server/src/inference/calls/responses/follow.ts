import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { ModelCaller } from '../../../http/index.ts';
import { Problem } from '../../../kernel/problem.ts';
import { problemOf } from '../../../kernel/problem-of.ts';
import { writtenEvent } from '../event-frames.ts';
import { isRecord } from '../usage.ts';
import { type BackgroundResponses, FIRST_OF_RUN } from './background-responses.ts';
import { replayOf } from './replay.ts';
import type { Json, Owner, StoredResponses } from './stored-responses.ts';
import { toldEvents } from './told-events.ts';
import { ENCRYPTED_REASONING, includedIn, ownerOf, shownResponse, withoutEncrypted } from './wire.ts';

interface Following {
  readonly owner: Owner;
  readonly id: string;
  /** The last event that has arrived; -1: none. */
  readonly after: number;
  /** Aborted when nobody reads on. */
  readonly signal: AbortSignal;
  readonly headers: OutgoingHttpHeaders;
  readonly showsEncrypted: boolean;
}

interface FollowDeps {
  readonly responses: StoredResponses;
  readonly background: BackgroundResponses;
}

/** How often what other processes have written is looked for, milliseconds. */
const LOOK_MS = 250;
const PING_AFTER_LOOKS = 60;
const OVER = new Set(['completed', 'incomplete', 'failed', 'cancelled']);

/**
 * The events of a kept response behind the given one, as server-sent events, until it is over. They come from the database, so any process
 * can tell them, from any place, as often as asked.
 *
 * @throws Problem `not_found`, before anything is sent
 */
export async function follow(res: ServerResponse, following: Following, deps: FollowDeps): Promise<void> {
  const { owner, id, signal, headers, showsEncrypted } = following;
  let { after } = following;
  let run: number | undefined;
  let looks = 0;
  // A refusal has to come before the head of the stream.
  let state = await stateOf(owner, id, after, deps);
  res.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  });
  res.flushHeaders();
  while (!signal.aborted && !res.destroyed) {
    if (run !== undefined && state.run !== run) return endWith(res, after, 'begun_anew', BEGUN_ANEW);
    for (const event of state.events) {
      after = Number(event['sequence_number']);
      if (after >= FIRST_OF_RUN) run = state.run;
      if (!(await write(res, shownEvent(event, showsEncrypted), signal))) return;
    }
    if (state.isOver && state.events.length === 0) break;
    if (state.events.length === 0) {
      looks += 1;
      if (looks % PING_AFTER_LOOKS === 0) res.write(': ping\n\n');
      await pause(LOOK_MS, undefined, { signal }).catch(() => {});
    }
    if (signal.aborted) return;
    const next = await stateOf(owner, id, after, deps).catch(problemOf);
    if (next instanceof Problem) {
      const isDeleted = next.code === 'not_found';
      await endWith(res, after, next.code, isDeleted ? 'The response was deleted.' : next.message);
      if (isDeleted) return;
      throw next;
    }
    state = next;
  }
  res.end();
}

const BEGUN_ANEW = 'Its worker was lost, and the response was begun anew: get its events from the first.';

interface State {
  readonly events: readonly Json[];
  readonly isOver: boolean;
  readonly run: number;
}

async function stateOf(owner: Owner, id: string, after: number, { responses, background }: FollowDeps): Promise<State> {
  // Asked for several times a second: the response, which may be large, is opened only where it is told from.
  const status = await responses.status(owner, id);
  const { hasAny, isClosed, run, events } = await background.eventsAfter(owner, id, after);
  if (hasAny) return { events: events.map(({ event }) => event), isOver: isClosed, run };
  const isOver = OVER.has(status);
  const { response } = await responses.get(owner, id);
  const sent = isOver ? await responses.told(owner, id) : undefined;
  const told = sent ? await toldEvents(sent) : replayOf(isOver ? response : { ...response, output: [], status: 'in_progress' });
  return { events: told.filter((event) => Number(event['sequence_number']) > after), isOver, run: 0 };
}

function shownEvent(event: Json, showsEncrypted: boolean): Json {
  const { response, item } = event;
  if (isRecord(response)) return { ...event, response: shownResponse(response, showsEncrypted) };
  return isRecord(item) && !showsEncrypted ? { ...event, item: withoutEncrypted(item) } : event;
}

/** False where nobody reads any more. */
async function write(res: ServerResponse, event: Json, signal: AbortSignal): Promise<boolean> {
  if (!res.write(await writtenEvent(event)) && !res.destroyed) {
    const { promise, resolve } = Promise.withResolvers<void>();
    res.once('drain', resolve).once('close', resolve);
    await promise;
    res.off('drain', resolve).off('close', resolve);
  }
  return !signal.aborted && !res.destroyed;
}

async function endWith(res: ServerResponse, after: number, code: string, message: string): Promise<void> {
  res.end(await writtenEvent({ type: 'error', code, message, param: null, sequence_number: after + 1 }));
}

interface FollowRequest {
  readonly principal: ModelCaller;
  readonly id: string;
  readonly query: { readonly starting_after?: number | undefined } & Json;
  readonly signal: AbortSignal;
}

/** `GET /v1/responses/{id}?stream=true`. @throws Problem `not_found` */
export type FollowResponse = (res: ServerResponse, request: FollowRequest) => Promise<void>;

export const followResponse =
  (deps: FollowDeps): FollowResponse =>
  (res, { principal, id, query, signal }) =>
    follow(
      res,
      {
        owner: ownerOf({ principal }),
        id,
        after: query.starting_after ?? -1,
        signal,
        headers: {},
        showsEncrypted: includedIn(query).has(ENCRYPTED_REASONING),
      },
      deps,
    );
