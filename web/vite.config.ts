// Builds the page into files with fixed names, so that the same source makes the same bytes and the
// server can embed them by name. Nothing is inlined: the page runs under `script-src 'self'; style-src 'self'`.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

export default defineConfig({
  base: './',
  plugins: [
    svelte({
      // Class names from the style itself: the default takes the path of the file, too.
      compilerOptions: { cssHash: ({ hash, css }) => `s-${hash(css)}`, modernAst: true },
    }),
  ],
  build: {
    target: 'es2022',
    outDir: 'dist',
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: {
        codeSplitting: false,
        entryFileNames: 'assets/page.js',
        assetFileNames: 'assets/page[extname]',
      },
    },
  },
});
