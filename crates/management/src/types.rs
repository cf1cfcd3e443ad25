//! TLV-TYPE numbers of NFD's management protocol. Some are used again inside other containers.

#![allow(missing_docs, reason = "each constant is the element of the same name in the specification")]

pub const CONTROL_RESPONSE: u32 = 101;
pub const STATUS_CODE: u32 = 102;
pub const STATUS_TEXT: u32 = 103;

pub const CONTROL_PARAMETERS: u32 = 104;
pub const FACE_ID: u32 = 105;
pub const COST: u32 = 106;
pub const STRATEGY: u32 = 107;
pub const FLAGS: u32 = 108;
pub const EXPIRATION_PERIOD: u32 = 109;
pub const ORIGIN: u32 = 111;
pub const MASK: u32 = 112;
pub const URI: u32 = 114;
pub const LOCAL_URI: u32 = 129;
pub const CAPACITY: u32 = 131;
pub const COUNT: u32 = 132;
pub const FACE_PERSISTENCY: u32 = 133;
pub const BASE_CONGESTION_MARKING_INTERVAL: u32 = 135;
pub const DEFAULT_CONGESTION_THRESHOLD: u32 = 136;
pub const MTU: u32 = 137;

/// FaceStatus, FibEntry, RibEntry, StrategyChoice and CsInfo, each in its own dataset.
pub const DATASET_ITEM: u32 = 128;
pub const NEXT_HOP_RECORD: u32 = 129;
pub const ROUTE: u32 = 129;
pub const CHANNEL_STATUS: u32 = 130;

pub const NFD_VERSION: u32 = 128;
pub const START_TIMESTAMP: u32 = 129;
pub const CURRENT_TIMESTAMP: u32 = 130;
pub const N_NAME_TREE_ENTRIES: u32 = 131;
pub const N_FIB_ENTRIES: u32 = 132;
pub const N_PIT_ENTRIES: u32 = 133;
pub const N_MEASUREMENTS_ENTRIES: u32 = 134;
pub const N_CS_ENTRIES: u32 = 135;
pub const N_HITS: u32 = 129;
pub const N_MISSES: u32 = 130;

pub const N_IN_INTERESTS: u32 = 144;
pub const N_IN_DATA: u32 = 145;
pub const N_OUT_INTERESTS: u32 = 146;
pub const N_OUT_DATA: u32 = 147;
pub const N_IN_BYTES: u32 = 148;
pub const N_OUT_BYTES: u32 = 149;
pub const N_IN_NACKS: u32 = 151;
pub const N_OUT_NACKS: u32 = 152;
pub const N_SATISFIED_INTERESTS: u32 = 153;
pub const N_UNSATISFIED_INTERESTS: u32 = 154;

pub const FACE_SCOPE: u32 = 132;
pub const LINK_TYPE: u32 = 134;
pub const FACE_QUERY_FILTER: u32 = 150;
pub const URI_SCHEME: u32 = 131;

pub const FACE_EVENT_NOTIFICATION: u32 = 192;
pub const FACE_EVENT_KIND: u32 = 193;

/// What Cairn adds. Even numbers, which readers who do not know them pass over.
pub const CAIRN_TOTALS: u32 = 51_712;
pub const CAIRN_FACES: u32 = 51_714;
pub const CAIRN_QUEUED_BYTES: u32 = 51_716;
pub const CAIRN_REASSEMBLY_BYTES: u32 = 51_718;
pub const CAIRN_PIT_BYTES: u32 = 51_720;
pub const CAIRN_CS_BYTES: u32 = 51_722;
pub const CAIRN_TABLE_BYTES: u32 = 51_724;
pub const CAIRN_RIB_ROUTES: u32 = 51_726;
pub const CAIRN_RIB_BYTES: u32 = 51_728;
pub const CAIRN_DROPPED: u32 = 51_730;
pub const CAIRN_LAYER: u32 = 51_732;
pub const CAIRN_REASON: u32 = 51_734;
pub const CAIRN_MEMORY_BUDGET_BYTES: u32 = 51_736;
pub const CAIRN_REPOSITORY: u32 = 51_738;
pub const CAIRN_PATH: u32 = 51_740;
pub const CAIRN_NUMBER: u32 = 51_742;
pub const CAIRN_WORD: u32 = 51_744;
pub const CAIRN_SHARING: u32 = 51_746;
