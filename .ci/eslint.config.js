import { fileURLToPath } from 'node:url';
import tseslint from 'typescript-eslint';

export default tseslint.config(...tseslint.configs.recommendedTypeChecked, {
  languageOptions: {
    parserOptions: {
      project: ['./test/tsconfig.json'],
      tsconfigRootDir: fileURLToPath(new URL('..', import.meta.url)),
    },
  },
  rules: {
    '@typescript-eslint/no-floating-promises': 'error',
    '@typescript-eslint/switch-exhaustiveness-check': 'error',
    '@typescript-eslint/consistent-type-imports': 'error',
    '@typescript-eslint/only-throw-error': 'error',
    '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    '@typescript-eslint/require-await': 'off',
    '@typescript-eslint/no-non-null-assertion': 'off',
    'no-console': 'error',
    'no-restricted-properties': ['error', { property: 'toLocaleString', message: 'Use src/report/words/numbers.ts.' }],
  },
});
