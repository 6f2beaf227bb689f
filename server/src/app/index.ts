export { ConfigError, readConfig } from './config.ts';
export { DataDirInUse } from './data-dir.ts';
export { greeting } from './greeting.ts';
export { AddressInUse } from './http/front.ts';
export { MasterKeyMissing } from './reseal.ts';
export { type RunningServer, startServer } from './server.ts';
export { configOfWorker, joinAuthority } from './workers/authority-link.ts';
