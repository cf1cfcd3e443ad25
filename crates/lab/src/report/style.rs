//! How the page looks: light and dark, on a phone and on paper. Colours can be told apart by eyes that see few of them.

/// Colours by what they are for.
pub(super) const VARIABLES: &str = ":root{--page:#fff;--card:#f7f8fa;--ink:#1a1d21;--soft:#5b6470;--rule:#dde1e6;--good:#00734f;\
--bad:#b3261e;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b5558c;--c4:#8a6d00;--c5:#3a9bd1;--c6:#555}\
@media (prefers-color-scheme:dark){:root{--page:#14171a;--card:#1d2126;--ink:#e8eaed;--soft:#9aa3ad;--rule:#343a41;\
--good:#4cc9a0;--bad:#ff8a80;--c0:#58b0e8;--c1:#ff9d5c;--c2:#3ed0a5;--c3:#e493c4;--c4:#e3c341;--c5:#9ad3f5;--c6:#b8bec5}}";

/// Classes of drawings.
pub(super) const DRAWING: &str = "svg.drawing{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,\
sans-serif;font-size:11px;max-width:100%;height:auto}svg .faint{stroke:var(--rule);stroke-width:1}svg .axis{stroke:var(--soft);\
stroke-width:1}svg text{fill:var(--ink)}svg text.soft{fill:var(--soft)}svg text.title{font-weight:600;font-size:12px}\
svg polyline{fill:none;stroke-width:1.6;stroke-linejoin:round}svg .k0{stroke:var(--c0)}svg .k1{stroke:var(--c1)}\
svg .k2{stroke:var(--c2)}svg .k3{stroke:var(--c3)}svg .k4{stroke:var(--c4)}svg .k5{stroke:var(--c5)}svg .k6{stroke:var(--c6)}\
svg text.k0,svg rect.k0,svg circle.k0,svg path.k0{fill:var(--c0);stroke:none}svg text.k1,svg rect.k1,svg circle.k1,svg path.k1{fill:var(--c1);stroke:none}\
svg text.k2,svg rect.k2,svg circle.k2,svg path.k2{fill:var(--c2);stroke:none}svg text.k3,svg rect.k3,svg circle.k3,svg path.k3{fill:var(--c3);stroke:none}\
svg text.k4,svg rect.k4,svg circle.k4,svg path.k4{fill:var(--c4);stroke:none}svg text.k5,svg rect.k5,svg circle.k5,svg path.k5{fill:var(--c5);stroke:none}\
svg text.k6,svg rect.k6,svg circle.k6,svg path.k6{fill:var(--c6);stroke:none}svg path{opacity:.14}svg rect.bad{fill:var(--bad)}\
svg rect.node{fill:var(--card);stroke:var(--soft)}svg .link{stroke:var(--soft);stroke-width:2}svg text.name{font-weight:600;\
font-size:13px}";

/// The page.
pub(super) const PAGE: &str = "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);\
font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}main{max-width:1080px;margin:0 auto;\
padding:1.5rem 1.1rem 4rem}h1{font-size:1.75rem;line-height:1.2;margin:.4rem 0 .3rem}h2{font-size:1.25rem;margin:2.6rem 0 .7rem;\
padding-top:.9rem;border-top:1px solid var(--rule)}h3{font-size:1.02rem;margin:1.6rem 0 .5rem}p{margin:.5rem 0;max-width:46rem}\
.soft,figcaption,footer{color:var(--soft)}.source{font-size:.92rem}table{border-collapse:collapse;font-size:.88rem;\
font-variant-numeric:tabular-nums;margin:.6rem 0}th,td{text-align:left;padding:.3rem .75rem .3rem 0;border-bottom:1px solid \
var(--rule);vertical-align:top}th{font-weight:600;color:var(--soft)}td.number,th.number{text-align:right;white-space:nowrap}\
.wide{overflow-x:auto}.yes{color:var(--good);font-weight:600}.no{color:var(--bad);font-weight:600}.facts{display:flex;\
flex-wrap:wrap;gap:.7rem;margin:1.1rem 0}.fact{background:var(--card);border-radius:.6rem;padding:.6rem .95rem;min-width:8.5rem}\
.fact b{display:block;font-size:1.3rem;line-height:1.25}.fact span{color:var(--soft);font-size:.83rem}\
.pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(318px,1fr));gap:1rem 1.3rem}.pictures figure,figure{margin:0}\
figcaption{font-size:.83rem;margin-top:.25rem;max-width:46rem}details{margin:.7rem 0}summary{cursor:pointer;font-weight:600}\
pre{background:var(--card);padding:.85rem 1rem;border-radius:.6rem;overflow-x:auto;font-size:.83rem;line-height:1.45}\
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em}nav{font-size:.92rem}nav a{margin-right:1rem}\
a{color:var(--c0)}.warning{border-left:4px solid var(--bad);padding:.4rem .9rem;background:var(--card);border-radius:.3rem}\
@media print{body{font-size:10.5pt}main{max-width:none;padding:0}h2{break-after:avoid}figure,tr{break-inside:avoid}nav{display:none}\
.pictures{grid-template-columns:repeat(2,1fr)}details>*{display:block}}";
