export { MasterKeyMissing } from '../identity/index.ts';
export { ConfigError, readConfig } from './config.ts';
export { AddressInUse } from './http/front.ts';
export { DataDirInUse } from './data-dir.ts';
export { type RunningServer, startServer } from './server.ts';
