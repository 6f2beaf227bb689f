export { ConfigError, readConfig } from './config.ts';
export { DataDirInUse } from './data-dir.ts';
export { type RunningServer, startServer } from './server.ts';
