#include "bench/html_style.h"

namespace samovar::bench {

const char* const kReportStyle = R"(
:root{color-scheme:light dark;--back:#fff;--text:#1c2024;--soft:#60646c;--rule:#d9d9e0;
--grid:#e8e8ec;--head:#f4f4f7;--good:#18794e;--bad:#c62a2f;
--c0:#c2410c;--c1:#1d6fd1;--c2:#18794e;--c3:#8145b5;
--p0:#f2a65a;--p1:#b8b8c2;--p2:#7c66dc;--p3:#2f9e77;--p4:#1d6fd1;--p5:#d9dbe0}
@media(prefers-color-scheme:dark){:root{--back:#16181c;--text:#e8eaed;--soft:#a0a6b0;
--rule:#3a3f47;--grid:#2a2e35;--head:#1f2329;--good:#4cc38a;--bad:#ff8b8e;
--c0:#ff9056;--c1:#6cb2ff;--c2:#4cc38a;--c3:#c39bf0;
--p0:#d98b3f;--p1:#6b7079;--p2:#9a88f2;--p3:#3cb78c;--p4:#4f9cf0;--p5:#3f444d}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1180px;padding:24px 18px 60px;background:var(--back);
color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .4em}
h2{font-size:1.25rem;margin:2.2em 0 .2em;border-top:1px solid var(--rule);padding-top:1em}
h3{font-size:1rem;margin:1.4em 0 .3em}
p{margin:.4em 0 .8em;max-width:75ch}
.soft{color:var(--soft)}
.pair{display:grid;gap:8px 32px;align-items:start}
.pair>*{min-width:0}
@media(min-width:1000px){.pair.two{grid-template-columns:minmax(0,1fr) minmax(0,460px)}}
.chart{max-width:560px}
svg{display:block;width:100%;height:auto;overflow:visible}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem;margin:.4em 0 1em}
th,td{padding:5px 12px 5px 0;text-align:left;vertical-align:top;
border-bottom:1px solid var(--grid)}
th{font-weight:600;color:var(--soft);white-space:nowrap}
td:first-child{white-space:nowrap}
td .spread-text{color:var(--soft);font-size:.86em;white-space:nowrap;display:block}
td.better{color:var(--good);font-weight:600}
td.loses{color:var(--bad);font-weight:600}
.facts th{font-weight:400}
.facts td{overflow-wrap:anywhere;white-space:normal}
.loss{border-left:3px solid var(--bad);padding-left:12px}
text{fill:var(--text);font:11.5px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
text.label{fill:var(--soft)}
.grid{stroke:var(--grid);stroke-width:1}
.axis{stroke:var(--soft);stroke-width:1}
.line{fill:none;stroke-width:2}
.spread{stroke-width:1.2;opacity:.7}
.band{stroke:none;opacity:.14}
.dot{stroke:var(--back);stroke-width:1}
.d1{stroke-dasharray:7 4}
.d2{stroke-dasharray:2 3}
.d3{stroke-dasharray:9 3 2 3}
.line.c0,.spread.c0{stroke:var(--c0)}.band.c0,.dot.c0{fill:var(--c0)}
.line.c1,.spread.c1{stroke:var(--c1)}.band.c1,.dot.c1{fill:var(--c1)}
.line.c2,.spread.c2{stroke:var(--c2)}.band.c2,.dot.c2{fill:var(--c2)}
.line.c3,.spread.c3{stroke:var(--c3)}.band.c3,.dot.c3{fill:var(--c3)}
.p0{fill:var(--p0)}.p1{fill:var(--p1)}.p2{fill:var(--p2)}.p3{fill:var(--p3)}
.p4{fill:var(--p4)}.p5{fill:var(--p5)}
@media print{body{max-width:none}h2{break-after:avoid}.pair{break-inside:avoid}}
)";

}  // namespace samovar::bench
