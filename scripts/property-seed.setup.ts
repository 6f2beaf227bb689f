import fc from 'fast-check';

/** Like every other test, property tests try the same on every run. `FC_SEED=$RANDOM npm test` looks further. */
fc.configureGlobal({ seed: Number(process.env['FC_SEED'] ?? 20_261_121) });
