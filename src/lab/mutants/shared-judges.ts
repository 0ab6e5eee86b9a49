/**
 * Judges that are no mutant's only killer, and why. The gate of the kill matrix lets exactly these pass. That they see at all is shown by corrupted facts
 * (`check --corrupt`), one kind of corruption each: `shared-judges.test.ts`.
 */
const SEEN_BY_OTHERS = 'no design that the papers warn of breaks it alone';

export const SHARED_JUDGES: Readonly<Record<string, string>> = {
  'stock-conservation': `${SEEN_BY_OTHERS}: a unit that does not add up is held twice (no-oversell), released twice (release-once) or missing from Redis too`,
  'ledger-balanced': `${SEEN_BY_OTHERS}: the entry is written in the transaction that moves the unit, so what is wrong with it is wrong with the unit`,
  'legal-state-path': `${SEEN_BY_OTHERS}: every forbidden edge of an order or a unit is also a payment, a release or a holder too many`,
  'money-accounted': 'the mutants are about stock and orders; their payment channel tells the truth',
  'dead-letters-accounted': `${SEEN_BY_OTHERS}: a message that vanishes is missed by inbox-once first`,
  'admission-bounded': 'its wrong design is a limit that is too wide, which is a setting and no design; the scenario recovery-flood asks for it',
  'permit-once': 'the mutants are about stock and orders; the small runs show no permits, the scenario bots does',
  'lottery-kept': 'the mutants are about stock and orders; the small runs have no waiting room',
};
