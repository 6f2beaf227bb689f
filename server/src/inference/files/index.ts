export { blobKeyTime, blobSealingKeys, newFileBlobKey, newPassingBlobKey } from './blob-keys.ts';
export { deleteAccountFiles } from './close-account.ts';
export { createFiles, type Files } from './files.ts';
export { listerOf, type Owner, ownerOf, type Reader, readerOf } from './owner.ts';
export { fileRoutes, fileToWire, partToWire, uploadRoutes } from './routes.ts';
export { type StoredFile, UNNAMED } from './stored-file.ts';
export { sweepExpired, sweepOrphans } from './sweep.ts';
export { createUploads, type Uploads } from './uploads.ts';
