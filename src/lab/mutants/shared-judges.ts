/**
 * Judges that are no mutant's only killer, and why. The gate of the kill matrix lets exactly these pass. That they see at all is shown by corrupted facts
 * (`check --corrupt`), one kind of corruption each: `shared-judges.test.ts`.
 */
const SEEN_BY_OTHERS = 'no design that the papers warn of breaks it alone';

export const SHARED_JUDGES: Readonly<Record<string, string>> = {
  'stock-conservation': `${SEEN_BY_OTHERS}: a unit that does not add up is held twice (no-oversell), released twice (release-once) or missing from Redis too`,
  'legal-state-path': `${SEEN_BY_OTHERS}: every forbidden edge of an order or a unit is also a payment, a release or a holder too many`,
  'admission-bounded': 'its wrong design is a limit that is too wide, which is a setting and no design; the scenario recovery-flood asks for it',
  'lottery-kept': 'the mutants are about stock and orders; the small runs have no waiting room',
};
