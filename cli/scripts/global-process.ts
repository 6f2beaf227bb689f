// Stands in for `node:process` in the build of commander.
export default globalThis.process;
