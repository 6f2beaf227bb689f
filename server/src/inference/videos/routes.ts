import type { contract } from '@tallygate/contract';
import type { Handlers } from '../../http/index.ts';
import { ownerOf } from '../files/index.ts';
import { characterToWire, type StoredCharacters } from './stored-characters.ts';
import { videoToWire } from './stored-video.ts';
import type { Videos } from './videos.ts';

export const videoRoutes = (videos: Videos, characters: Pick<StoredCharacters, 'get'>): Handlers<typeof contract.videos> => ({
  list: async ({ principal, query }) => {
    const page = await videos.list(ownerOf(principal), query);
    const data = page.videos.map(videoToWire);
    const ends = { first_id: data.at(0)?.id ?? '', last_id: data.at(-1)?.id ?? '' };
    return { status: 200, body: { object: 'list', data, ...ends, has_more: page.hasMore } };
  },
  get: async ({ principal, params }) => ({ status: 200, body: videoToWire(await videos.get(ownerOf(principal), params.video_id)) }),
  delete: async ({ principal, params }) => {
    await videos.delete(ownerOf(principal), params.video_id);
    return { status: 200, body: { id: params.video_id, object: 'video.deleted', deleted: true } };
  },
  getCharacter: async ({ principal, params }) => ({
    status: 200,
    body: characterToWire(await characters.get(ownerOf(principal), params.character_id)),
  }),
});
