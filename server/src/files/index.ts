export { newFileBlobKey, newPassingBlobKey } from './blob-keys.ts';
export { deleteAccountFiles } from './close-account.ts';
export { createFiles, type Files, type OpenFile } from './files.ts';
export { type Owner, ownerOf } from './owner.ts';
export { fileRoutes, fileToWire, partToWire, uploadRoutes } from './routes.ts';
export { type FilePurpose, type NewFile, type StoredFile, type StoredPurpose, UNNAMED } from './stored-file.ts';
export { sweepExpired, sweepOrphans } from './sweep.ts';
export { createUploads, type Uploads } from './uploads.ts';
