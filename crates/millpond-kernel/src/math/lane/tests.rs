//! Accuracy and limits of the lane functions.
