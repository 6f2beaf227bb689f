import { builtServer } from './server-build.mjs';

/** Once for the run: test files that begin at the same time would each build it. */
export default function setup() {
  builtServer();
}
