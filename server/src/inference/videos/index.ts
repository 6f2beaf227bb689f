export { deleteAccountVideos } from './close-account.ts';
export { videoWork } from './jobs.ts';
export { videoOperations } from './operations.ts';
export { videoRoutes } from './routes.ts';
export { StoredCharacters } from './stored-characters.ts';
export { StoredVideos } from './stored-videos.ts';
export { createVideos, type Videos } from './videos.ts';
