// Stands in for what commander imports for programs as subcommands.
export default {};
