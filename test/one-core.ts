/** For `node --import`: the program takes the machine for one of a single core, and so maps in one thread. */
export const ONE_CORE = `data:text/javascript,${encodeURIComponent(
  "import os from 'os'; import { syncBuiltinESMExports } from 'module'; os.availableParallelism = () => 1; syncBuiltinESMExports();",
)}`;
