//! The CCNx dialect: ccnb of CCNx 0.8, and the NDNLP v1 link protocol that was written for it.
