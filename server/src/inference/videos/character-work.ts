import type { VideoCharacterRequest } from '@tallygate/contract';
import type { UpstreamFile } from '../../adapters/upstream/port.ts';
import { type AnswerForm, type Caller, jsonObjectOf, NO_USAGE, type Received, type Work } from '../calls/index.ts';
import { ownerOf } from '../files/index.ts';
import { characterToWire, newCharacterId, type StoredCharacters } from './stored-characters.ts';
import { idOf } from './upstream-id.ts';

interface CharacterWish {
  readonly request: VideoCharacterRequest;
  /** Shows who it is. */
  readonly video: UpstreamFile;
  readonly createdAt: Date;
}

const ENDPOINT = '/v1/videos';

/** Somebody for videos to come. Providers charge nothing for it; it is admitted, answered and settled like everything else that calls them. */
export function characterWork(
  { request: { model, video: _shown, ...request }, video, createdAt }: CharacterWish,
  { received, caller }: { received: Pick<Received, 'sha256'>; caller: Caller },
  characters: StoredCharacters,
): Work {
  const owner = ownerOf(caller.principal);
  const shown = { id: newCharacterId(), name: request.name, created_at: createdAt };
  return {
    endpoint: ENDPOINT,
    model,
    fallbackModels: [],
    isStream: false,
    needs: [{ capability: 'video_characters', param: 'model' }],
    output: null,
    cheaper: 'show a shorter `video`',
    estimatedTokens: 0,
    dialects: [{ endpoint: '/v1/videos/characters', request: { ...request, model }, files: [video], form: characterForm(shown) }],
    // What nobody knows the row of would be lost.
    outlivesHangUp: true,
    bound: () => ({ inputTokens: 0 }),
    estimate: async () => NO_USAGE,
    requestSha256: received.sha256,
    keep: async (answer, _cost, { target }) => {
      const upstream_id = idOf(answer);
      if (upstream_id === undefined) throw new Error('What was read as a character is one');
      await characters.insert(owner, { ...shown, deployment: target.deployment.name, upstream_id });
    },
  };
}

const characterForm = (shown: Parameters<typeof characterToWire>[0]): AnswerForm => ({
  async read(bytes) {
    const value = await jsonObjectOf(bytes);
    if (idOf(value) === undefined) return undefined;
    return {
      contentType: 'application/json',
      usage: NO_USAGE,
      delivered: { text: '', scale: 1 },
      value,
      toBytes: () => Buffer.from(JSON.stringify(characterToWire(shown))),
    };
  },
  usageIn: () => NO_USAGE,
  openStream() {
    throw new Error('This endpoint does not stream');
  },
});
