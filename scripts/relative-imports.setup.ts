// A set-up file is evaluated anew for each file of tests; the hook is for a process.
import './relative-imports.ts';
