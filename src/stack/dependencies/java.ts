/** Java 17 or later, for Kafka. */
import { MINIMAL_JAVA } from '../local/tools.js';
import { found, missing, nothingToFetch } from './dependency.js';
import type { Dependency } from './dependency.js';
import { findJava } from './find-java.js';

export const java: Dependency = {
  name: 'java',
  look: () => {
    const installed = findJava();
    if (installed === null) return missing('no java on PATH or in JAVA_HOME');
    const text = `Java ${installed.version} (${installed.path})`;
    return installed.major >= MINIMAL_JAVA ? found(text) : missing(`${text} is too old, Kafka needs ${String(MINIMAL_JAVA)} or later`);
  },
  lackingPackages: () => {
    const installed = findJava();
    return installed === null || installed.major < MINIMAL_JAVA ? ['openjdk-17-jre-headless'] : [];
  },
  fetch: nothingToFetch,
};
